import { applicationPlace, withApplicationOptions } from '../application-options.ts'
import { defineCommand } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'

/** The topology, for people and pictures. */
export const graphCommand = defineCommand({
  usage: 'graph [files..]',
  summary: 'shows topics, steps, stores and the serdes of every edge',
  examples: [
    ['$0 graph app.yaml', 'a tree in the terminal'],
    ['$0 graph app.yaml --format mermaid', 'for Markdown'],
    ['$0 graph app.yaml --format dot | dot -Tsvg > app.svg', 'for Graphviz'],
    ['$0 graph app.yaml --format describe', "Kafka Streams' own text"],
  ],
  options: yargs =>
    withApplicationOptions(yargs).option('format', {
      choices: ['text', 'mermaid', 'dot', 'describe'] as const,
      default: 'text' as const,
      describe: 'how to draw it',
    }),
  run: async (options, io) => {
    const place = applicationPlace(options)
    const { loadPlanned } = await import('../loaded-application.ts')
    const { drawGraph } = await import('../graph-drawing.ts')
    const { config, plan } = await loadPlanned(place)
    io.out(drawGraph(plan, config.guarantee, options.format))
    return EXIT_CODES.ok
  },
})
