import type { TableOperation } from '../operations.ts'
import { boundsOf, waitOf, type Input, type Step } from '../plan.ts'
import * as user from '../user-functions.ts'
import { GroupAggregate, GroupSelect } from './aggregates.ts'
import { foldOf } from './folds.ts'
import { Suppress } from './suppress.ts'
import { Answering, Resolve, Subscribe, TableJoin } from './table-joins.ts'
import { DerivedTable, newsOf, SourceTable, type TableNode } from './tables.ts'
import type { Wiring } from './wiring.ts'

/** Operations on tables. */
export function addToTable(
  wiring: Wiring,
  operation: TableOperation,
  step: Step,
  first: Input,
  second: Input,
): TableNode {
  const { model } = wiring
  const table = wiring.table(first)
  switch (operation.kind) {
    case 'tableFilter':
    case 'tableFilterNot': {
      const holds = user.predicate(operation.fn)
      const keep = operation.kind === 'tableFilter'
      const { isStored } = operation
      return new DerivedTable(table, { isFilter: true, isStored }, (value, key) =>
        holds(value, key) === keep ? value : null,
      )
    }
    case 'tableMapValues':
    case 'tableTransformValues':
      return new DerivedTable(table, { isFilter: false, isStored: operation.isStored }, user.mapper(operation.fn))
    case 'tableGroup': {
      const select = newsOf(table).feeds(new GroupSelect(model, user.grouper(operation.fn)))
      table.sendOld(true)
      return wiring.topic(select).feeds(new GroupAggregate(model, foldOf(operation.fold)))
    }
    case 'suppress': {
      const until = waitOf(operation.until, first.shape)
      const windows = first.shape.type === 'table' ? first.shape.windows : null
      const closes = (windows?.grace ?? 0) + (windows?.type === 'session' ? windows.gap : 0)
      return new Suppress(table, {
        wait: until === 'windowCloses' ? closes : until,
        isFinal: until === 'windowCloses',
        ...boundsOf(operation, step),
      })
    }
    case 'tableJoin':
      return new TableJoin(table, wiring.table(second), {
        kind: operation.join,
        joiner: user.joinerOf(operation),
        isStored: operation.isStored,
      })
    case 'foreignKeyJoin':
      return joinForeignKey(wiring, table, wiring.table(second), operation)
  }
}

function joinForeignKey(
  wiring: Wiring,
  left: TableNode,
  right: TableNode,
  { fn, isLeft }: { fn: number; isLeft: boolean },
): TableNode {
  right.sendOld(true)
  left.sendOld(true)
  left.keep()
  right.keep()
  const answering = new Answering(right)
  wiring.topic(new Subscribe(left, user.foreignKey(fn), isLeft)).feeds(answering, 0)
  newsOf(right).feeds(answering, 1)
  const resolve = wiring.topic(answering).feeds(new Resolve(left, user.joiner, isLeft))
  return resolve.feeds(new SourceTable(wiring.model, true))
}
