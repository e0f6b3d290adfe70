import { send } from '../kafka/sender.ts'
import type { Order } from '../model/order.ts'

export function each(orders: readonly Order[]): string {
  orders.forEach(async order => {
    await send([order])
  })
  if (send(orders)) return 'sent'
  return 'not sent'
}
