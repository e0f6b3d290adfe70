import type { Piped } from '../events.ts'
import type { Operation } from '../operations.ts'
import { takesTexts, type Step } from '../plan.ts'
import * as user from '../user-functions.ts'
import { Aggregate, type Fold } from './aggregates.ts'
import { recordOf, type Model } from './flow.ts'
import { foldOf, windowTable } from './folds.ts'
import { joinStream, stateless } from './stream-steps.ts'
import { Dedupe, Numbering, Split, Stateless } from './streams.ts'
import { TableNode } from './tables.ts'
import { addToTable } from './table-steps.ts'
import { Wiring, type Result, type Stream } from './wiring.ts'

/** The model of a topology. */
export class AssembledModel {
  readonly model: Model
  /** Tables by the step they come from, for a look at what they hold in the end. */
  readonly tables = new Map<number, TableNode>()
  readonly #wiring = new Wiring()

  constructor(steps: readonly Step[]) {
    this.model = this.#wiring.model
    for (const step of steps) {
      const result = add(this.#wiring, step)
      this.#wiring.keep(step.id, result)
      if (result instanceof TableNode) this.tables.set(step.id, result)
      if (step.isWritten) this.#wiring.write(this.#wiring.asStream(result, step.shape), `out-${String(step.id)}`)
    }
    this.model.begin()
  }

  /** A record of a topic; global tables take theirs at once. */
  pipe({ topic, key, value, time, headers }: Piped): void {
    if (topic !== 'g') {
      this.model.pipe(topic, recordOf(key, value, time, headers))
    } else if (key === null) {
      this.model.drop('nullKey')
    } else if (value === null) {
      this.#wiring.globalRows.delete(key)
    } else {
      this.#wiring.globalRows.set(key, value)
    }
  }
}

function add(wiring: Wiring, step: Step): Result {
  const { operation, inputs, id } = step
  const { model } = wiring
  const [first, second] = inputs
  if (first === undefined) throw new RangeError('an operator has an input')
  switch (operation.kind) {
    case 'filter':
    case 'filterNot':
    case 'mapValues':
    case 'flatMapValues':
    case 'map':
    case 'flatMap':
    case 'selectKey':
      return stateless(wiring, wiring.stream(first), operation.kind, operation.fn)
    case 'split': {
      const { node, isRekeyed } = wiring.stream(first)
      const split = node.feeds(new Split(model, user.predicate(operation.fn)))
      const branches = [0, 1].map(() => split.feeds(new Stateless(model, record => [record])))
      const [taken, other] = operation.taken === 'first' ? branches : branches.toReversed()
      if (taken === undefined || other === undefined) throw new RangeError('a split has two branches')
      wiring.write({ node: other, isRekeyed }, `out-${String(id)}-other`)
      return { node: taken, isRekeyed }
    }
    case 'convert': {
      const { node, isRekeyed } = wiring.stream(first)
      const convert = user.converter(operation.type)
      return { node: node.feeds(new Stateless(model, r => [{ ...r, value: convert(r.value) }])), isRekeyed }
    }
    case 'merge': {
      const isText = takesTexts(operation, inputs)
      const [left, right] = [wiring.stream(first, isText), wiring.stream(second ?? first, isText)]
      const merged = left.node.feeds(new Stateless(model, record => [record]))
      if (right.node !== left.node) right.node.feeds(merged)
      return { node: merged, isRekeyed: left.isRekeyed || right.isRekeyed }
    }
    case 'repartition':
      return { node: wiring.repartition(wiring.stream(first).node), isRekeyed: false }
    case 'toTable':
      return wiring.toTable(wiring.stream(first), operation.history)
    case 'dedupe': {
      const { node } = wiring.distributed(wiring.stream(first))
      return { node: node.feeds(new Dedupe(model, user.idOf(operation.fn), operation.within)), isRekeyed: false }
    }
    case 'process': {
      const { node, isRekeyed } = wiring.stream(first)
      const numbering = node.feeds(new Numbering(model, operation))
      return { node: numbering, isRekeyed: isRekeyed || !operation.keepsKey }
    }
    case 'streamJoin':
    case 'streamTableJoin':
    case 'globalTableJoin':
      return joinStream(wiring, operation, first, second ?? first)
    case 'aggregate': {
      const { node } = grouped(wiring, step, operation)
      return node.feeds(new Aggregate(model, foldOf(operation.fold), operation.history))
    }
    case 'windowed': {
      const { node } = grouped(wiring, step, operation)
      const late = operation.keepsLate ? `out-store-${String(id)}-late` : undefined
      const emitsFinal = operation.emit === 'final'
      return node.feeds(windowTable(model, foldOf(operation.fold), { windows: operation.windows, emitsFinal, late }))
    }
    case 'cogroup': {
      const groups = [wiring.stream(first), wiring.stream(second ?? first)].map(stream => wiring.distributed(stream))
      const fold: Fold = { ...foldOf('aggregate'), add: (total, value, side) => user.adderOf(side)(total, value) }
      const table =
        operation.windows === null
          ? new Aggregate(model, fold, null)
          : windowTable(model, fold, { windows: operation.windows, emitsFinal: false })
      for (const [side, { node }] of groups.entries()) node.feeds(table, side)
      return table
    }
    case 'tableFilter':
    case 'tableFilterNot':
    case 'tableMapValues':
    case 'tableTransformValues':
    case 'tableGroup':
    case 'suppress':
    case 'tableJoin':
    case 'foreignKeyJoin':
      return addToTable(wiring, operation, step, first, second ?? first)
  }
}

function grouped(
  wiring: Wiring,
  { inputs }: Step,
  operation: Extract<Operation, { kind: 'aggregate' | 'windowed' }>,
): Stream {
  const [first] = inputs
  if (first === undefined) throw new RangeError('an aggregation has an input')
  const stream = wiring.stream(first, takesTexts(operation, inputs))
  const { by } = operation
  return wiring.distributed(by === null ? stream : stateless(wiring, stream, 'selectKey', by))
}
