import type { FastifyRequest } from 'fastify'
import { plainAddress } from '../limits/address.ts'

/** The client address of a request, in the one form in which addresses are shown, recorded and counted. */
export const addressOf = ({ ip }: FastifyRequest): string => plainAddress(ip)

/** What the program that sent a request calls itself, as far as it is recorded. */
export const userAgentOf = ({ headers }: FastifyRequest): string | null =>
  headers['user-agent']?.slice(0, 256) ?? null
