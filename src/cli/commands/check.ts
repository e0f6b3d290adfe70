import { applicationPlace, withApplicationOptions } from '../application-options.ts'
import { defineCommand } from '../command.ts'

/** Dry run against the cluster. */
export const checkCommand = defineCommand({
  usage: 'check [files..]',
  summary: 'compares an application with its cluster, and changes nothing',
  examples: [['$0 check app.yaml -c production.yaml', 'says what `run` would find, and what it would create']],
  options: withApplicationOptions,
  run: async (options, io) => {
    const place = applicationPlace(options)
    const { checkApplication } = await import('../check-application.ts')
    return checkApplication(place, io)
  },
})
