import { send } from '../kafka/sender.ts'
import type { Order, OrderState } from '../model/order.ts'

export async function sendAll(orders: readonly Order[]): Promise<number> {
  return send(orders)
}

export function labelOf(state: OrderState): string {
  switch (state) {
    case 'open':
      return 'o'
    case 'paid':
      return 'p'
    case 'shipped':
      return 's'
  }
}
