import type { ApplicationSource } from '../engine/application-source.ts'
import type { ApplicationPlace } from './application-options.ts'

/** An application as the engine loads it. */
export function applicationSource({ files, overrides }: ApplicationPlace): ApplicationSource {
  return { kind: 'yaml', files, overrides }
}
