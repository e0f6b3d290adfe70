import { applicationPlace, withApplicationOptions } from '../application-options.ts'
import { defineCommand } from '../command.ts'

/** Creates or checks topics. */
export const topicsCommand = defineCommand({
  usage: 'topics [files..]',
  summary: 'creates or checks output, dead-letter and internal topics',
  examples: [
    ['$0 topics app.yaml --dry-run', 'shows what is there and what would be created'],
    ['$0 topics app.yaml', 'creates what is missing'],
  ],
  options: yargs =>
    withApplicationOptions(yargs).option('dry-run', {
      type: 'boolean',
      default: false,
      describe: 'changes nothing',
    }),
  run: async (options, io) => {
    const place = applicationPlace(options)
    const { manageTopics } = await import('../manage-topics.ts')
    return manageTopics(place, { dryRun: options.dryRun }, io)
  },
})
