import type { FastifyRequest } from 'fastify'
import { plainAddress } from '../limits/address.ts'

/** The client address of a request, in the one form in which addresses are shown, recorded and counted. */
export const addressOf = ({ ip }: FastifyRequest): string => plainAddress(ip)
