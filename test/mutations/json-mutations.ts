import type { Mutation } from './mutation.ts'

const WRITTEN_AS_OBJECT = {
  file: 'property/json-fields',
  title: 'is written byte for byte as the object is',
  reason: /Property failed/,
} as const

/** Bugs in fields that stand for a JSON value, and in drafts that stand for an object. */
export const JSON_MUTATIONS: readonly Mutation[] = [
  {
    name: 'copied-text-cut',
    bug: 'A text that is copied from the record into a draft loses its last byte.',
    file: 'serdes/json-fields',
    text: 'const length = (this.#ends[field] ?? 0) + 1 - from',
    replacement: 'const length = (this.#ends[field] ?? 0) - from',
    caughtBy: [WRITTEN_AS_OBJECT],
    cheap: true,
  },
  {
    name: 'field-of-last-record',
    bug: 'A field that the record does not have is the one of the record before.',
    file: 'serdes/json-fields',
    text: 'field < values.length; field += 1',
    replacement: 'field < 0; field += 1',
    caughtBy: [WRITTEN_AS_OBJECT],
  },
  {
    name: 'number-names-drafted',
    bug: 'A draft writes names that are numbers where they were named, and an object lists them first.',
    file: 'serdes/json-draft',
    text: 'SPECIAL_NAME.test(name) || name in Object.prototype',
    replacement: 'name in Object.prototype',
    caughtBy: [
      {
        file: 'property/json-fields',
        title: 'needs names that an object lists in their order',
        reason: /-true\s+\+false/,
      },
    ],
  },
  {
    name: 'fields-without-bound',
    bug: 'Fields are looked for however many there are.',
    file: 'topology/side-flow',
    text: 'fields.size > FIELDS_MAX',
    replacement: 'fields.size < 0',
    caughtBy: [
      {
        file: 'unit/topology/fields-read',
        title: 'gives whole values where more fields are named than are worth it',
        reason: /to equal 'decode'/,
      },
    ],
  },
  {
    name: 'fields-written-whole',
    bug: 'A sink gets the fields that steps name in place of the value.',
    file: 'topology/side-flow',
    text: '!isRead || writers.length > 0',
    replacement: '!isRead',
    caughtBy: [
      {
        file: 'unit/topology/fields-read',
        title: 'gives whole values where a step, a sink or a store asks for them',
        reason: /to equal 'decode'/,
      },
    ],
  },
  {
    name: 'fields-of-other-topic',
    bug: 'Members of a topic are taken for the fields they were in another one.',
    file: 'serdes/json-fields',
    text: 'root !== this.#root',
    replacement: 'this.#root === undefined',
    caughtBy: [
      {
        file: 'unit/serdes/json-fields',
        title: 'are found by their names where texts of another topic have other members',
        reason: /AssertionError/,
      },
    ],
  },
]
