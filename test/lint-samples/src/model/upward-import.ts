import { send } from '../kafka/sender.ts'

export const count = async (): Promise<number> => send([])
