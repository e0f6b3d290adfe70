import type { AnySerde, Serializer, SerdeContext } from './serde.ts'

/** A serializer whose type the graph no longer knows. */
export interface ErasedSerializer {
  readonly name: string
  readonly serialize: (value: unknown, context: SerdeContext) => Uint8Array
}

/** A serde whose type the graph no longer knows: the typed DSL has checked it, the engine only passes values through. */
export interface ErasedSerde extends ErasedSerializer {
  readonly deserialize: (bytes: Buffer, context: SerdeContext) => unknown
}

/** Forgets the type of a serde. */
export function erasedSerde(serde: AnySerde): ErasedSerde
export function erasedSerde(serde: unknown): unknown {
  return serde
}

/** Forgets the type of a serializer. */
export function erasedSerializer(serializer: Serializer<never>): ErasedSerializer
export function erasedSerializer(serializer: unknown): unknown {
  return serializer
}
