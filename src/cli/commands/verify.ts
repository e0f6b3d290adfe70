import { applicationPlace, withApplicationOptions } from '../application-options.ts'
import { defineCommand } from '../command.ts'
import { durationOption, positiveInteger } from '../option-values.ts'

/** Proof of a run, on a real cluster. */
export const verifyCommand = defineCommand({
  usage: 'verify [files..]',
  summary: 'judges what an application has done: computes it again from the logs and compares; changes nothing',
  examples: [
    ['$0 verify app.yaml', 'after the application has stopped: 0 consistent, 65 violated, 75 could not be judged'],
    ['$0 verify app.yaml --format json', 'one JSON object, for pipelines'],
    ['$0 verify app.yaml --wait 2m', 'waits that long until everything is read and no transaction is open'],
    ['$0 verify app.yaml --strict', '75 also where a check could only be made in part'],
    ['$0 verify app.yaml --history seen.ndjson', 'also checks what a second reader was shown during the run'],
  ],
  options: yargs =>
    withApplicationOptions(yargs)
      .option('format', {
        choices: ['text', 'json'] as const,
        default: 'text' as const,
        describe: 'how to show the result',
      })
      .option('wait', {
        type: 'string',
        default: '30s',
        describe: 'how long to wait for lag 0, no open transaction and an empty group',
        coerce: durationOption('wait'),
      })
      .option('max-records', {
        type: 'string',
        default: '5000000',
        describe: 'most records to hold in memory (about 500 bytes each)',
        coerce: positiveInteger('max-records'),
      })
      .option('strict', {
        type: 'boolean',
        default: false,
        describe: '75 instead of 0 where a part of a check could not be made, such as of cleaned logs',
      })
      .option('history', { type: 'string', describe: 'NDJSON file of what a reader saw during the run' }),
  run: async (options, io) => {
    const place = applicationPlace(options)
    const { verifyApplication } = await import('../verify-application.ts')
    const { format, wait, maxRecords, history, strict } = options
    const asked = { format, waitMs: wait, recordsMax: maxRecords, historyFile: history, isStrict: strict }
    return verifyApplication(place, asked, io)
  },
})
