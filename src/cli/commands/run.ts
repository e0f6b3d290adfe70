import { applicationPlace, withApplicationOptions } from '../application-options.ts'
import { defineCommand } from '../command.ts'

/** The service. */
export const runCommand = defineCommand({
  usage: 'run [files..]',
  summary: 'runs an application until SIGTERM',
  examples: [
    ['$0 run app.yaml', 'runs the application of that file'],
    ['$0 run app.js', 'a module: its default export is the topology, its export `config` the configuration'],
    ['$0 run base.yaml -c production.yaml --set streams.num.stream.threads=4', 'files merge, single values win'],
  ],
  options: withApplicationOptions,
  run: async (options, io) => {
    const place = applicationPlace(options)
    const { runApplication } = await import('../run-application.ts')
    return runApplication(place, io)
  },
})
