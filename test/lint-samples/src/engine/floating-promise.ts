import { send } from '../kafka/sender.ts'

export function forget(): void {
  send([])
}
