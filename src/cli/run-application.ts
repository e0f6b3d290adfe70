import { StreamsInstance } from '../engine/streams-instance.ts'
import { systemClock } from '../engine/system-clock.ts'
import { VERSION } from '../model/version.ts'
import type { ApplicationPlace } from './application-options.ts'
import { applicationSource } from './application-source.ts'
import type { CommandIo } from './command-io.ts'
import { Service } from './service.ts'

/** `millrace run`. @returns the exit code */
export async function runApplication(place: ApplicationPlace, io: CommandIo): Promise<number> {
  const service = new Service(VERSION, io)
  const instance: StreamsInstance = new StreamsInstance({
    source: await applicationSource(place),
    clock: systemClock,
    random: Math.random,
    version: VERSION,
    logger: config => service.configured(config, instance),
  })
  return service.run(instance)
}
