import { applicationPlace, withApplicationOptions } from '../application-options.ts'
import { defineCommand } from '../command.ts'

/** Offline check. */
export const validateCommand = defineCommand({
  usage: 'validate [files..]',
  summary: 'checks an application without a broker, and shows every mistake',
  examples: [
    ['$0 validate app.yaml', 'checks the file'],
    ['$0 validate app.yaml --format json', 'for editors and pipelines'],
  ],
  options: yargs =>
    withApplicationOptions(yargs).option('format', {
      choices: ['text', 'json'] as const,
      default: 'text' as const,
      describe: 'how to show the result',
    }),
  run: async (options, io) => {
    const place = applicationPlace(options)
    const { validateApplication } = await import('../validate-application.ts')
    return validateApplication(place, options.format, io)
  },
})
