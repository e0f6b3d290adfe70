import type { OrderState } from '../model/order.ts'

export function labelOf(state: OrderState): string {
  let label = ''
  switch (state) {
    case 'open':
      label = 'o'
      break
    case 'paid':
      label = 'p'
      break
  }
  return label
}
