import { createServer } from 'node:net'

export const server = createServer()
