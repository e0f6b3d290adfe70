export type OrderState = 'open' | 'paid' | 'shipped'

export interface Order {
  readonly id: string
  readonly state: OrderState
}
