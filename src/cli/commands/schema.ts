import { defineCommand } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'

/** JSON Schema for editors. */
export const schemaCommand = defineCommand({
  usage: 'schema',
  summary: 'prints the JSON Schema of a configuration file, for editors',
  examples: [
    [
      '$0 schema > millrace.schema.json',
      'then begin the YAML with  # yaml-language-server: $schema=./millrace.schema.json',
    ],
  ],
  options: yargs => yargs,
  run: async (_options, io) => {
    const { jsonSchema } = await import('../../config/json-schema.ts')
    io.out(JSON.stringify(jsonSchema(), undefined, 2))
    return EXIT_CODES.ok
  },
})
