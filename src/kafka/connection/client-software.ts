/** Who we say we are in ApiVersions; brokers show it in their `connections` metrics (KIP-511). */
export const CLIENT_SOFTWARE = { clientSoftwareName: 'millrace', clientSoftwareVersion: '0.1.0' } as const
