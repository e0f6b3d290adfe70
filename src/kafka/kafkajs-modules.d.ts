// The parts of kafkajs that have no types of their own; only `kafkajs-internals.ts` imports them.

declare module 'kafkajs/src/broker/saslAuthenticator/plain.js' {
  /** What one step of an exchange sends. Trap: `encode` puts a 4-byte length before the bytes. */
  interface AuthenticationRequest {
    encode(): Promise<Buffer>
  }

  /** How one step reads the answer. Trap: `decode` wants the 4-byte length back. */
  interface AuthenticationResponse {
    decode(bytes: Buffer): Promise<Buffer | null>
    parse(bytes: Buffer | null): Promise<unknown>
  }

  interface AuthenticationStep {
    readonly request: AuthenticationRequest
    readonly response?: AuthenticationResponse
  }

  interface AuthenticatorPorts {
    readonly host: string
    readonly port: number
    readonly logger: { debug(): void; error(): void }
    readonly saslAuthenticate: (step: AuthenticationStep) => Promise<unknown>
  }

  const provider: (credentials: {
    readonly username: string
    readonly password: string
  }) => (ports: AuthenticatorPorts) => { authenticate(): Promise<void> }
  export = provider
}

declare module 'kafkajs/src/broker/saslAuthenticator/scram256.js' {
  import provider from 'kafkajs/src/broker/saslAuthenticator/plain.js'
  export = provider
}

declare module 'kafkajs/src/broker/saslAuthenticator/scram512.js' {
  import provider from 'kafkajs/src/broker/saslAuthenticator/plain.js'
  export = provider
}
