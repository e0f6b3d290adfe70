import { send } from '../kafka/sender.ts'
import type { Order } from '../model/order.ts'

export function forgetEach(orders: readonly Order[]): void {
  orders.map(async order => send([order]))
}
