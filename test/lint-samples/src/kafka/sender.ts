import type { Order } from '../model/order.ts'

export async function send(orders: readonly Order[]): Promise<number> {
  await Promise.resolve()
  return orders.length
}
