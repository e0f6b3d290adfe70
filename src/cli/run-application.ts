import { StreamsInstance } from '../engine/streams-instance.ts'
import { systemClock } from '../engine/system-clock.ts'
import type { ApplicationPlace } from './application-options.ts'
import { applicationSource } from './application-source.ts'
import type { CommandIo } from './command-io.ts'
import { packageVersion } from './package-version.ts'
import { Service } from './service.ts'

/** `millrace run`. @returns the exit code */
export async function runApplication(place: ApplicationPlace, io: CommandIo): Promise<number> {
  const version = packageVersion()
  const service = new Service(version, io)
  const instance: StreamsInstance = new StreamsInstance({
    source: applicationSource(place),
    clock: systemClock,
    random: Math.random,
    version,
    logger: config => service.configured(config, instance),
  })
  return service.run(instance)
}
