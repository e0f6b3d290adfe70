import type { FoldKind, Windows } from '../operations.ts'
import * as user from '../user-functions.ts'
import type { Fold } from './aggregates.ts'
import type { Model } from './flow.ts'
import { SessionTable } from './sessions.ts'
import { SlidingWindowTable } from './sliding-windows.ts'
import type { TableNode } from './tables.ts'
import { TimeWindowTable } from './windows.ts'

/** How the values of an aggregation become one. */
export function foldOf(kind: FoldKind): Fold {
  switch (kind) {
    case 'count':
      return {
        initial: 0,
        add: total => Number(total) + 1,
        subtract: total => Number(total) - 1,
        merge: (left, right) => Number(left) + Number(right),
      }
    case 'reduce':
      return { initial: null, add: user.adder, subtract: user.subtractor, merge: user.adder }
    case 'aggregate':
      return { initial: user.initializer(), add: user.adder, subtract: user.subtractor, merge: user.merger }
  }
}

/** An aggregation in windows. */
export function windowTable(
  model: Model,
  fold: Fold,
  { windows, ...emission }: { windows: Windows; emitsFinal: boolean; late?: string | undefined },
): TableNode {
  const { grace } = windows
  switch (windows.type) {
    case 'tumbling':
      return new TimeWindowTable(model, fold, { size: windows.size, every: windows.size, grace, ...emission })
    case 'hopping':
      return new TimeWindowTable(model, fold, { size: windows.size, every: windows.every, grace, ...emission })
    case 'sliding':
      return new SlidingWindowTable(model, fold, { difference: windows.difference, grace, ...emission })
    case 'session':
      return new SessionTable(model, fold, { gap: windows.gap, grace, ...emission })
  }
}
