import type { FastifyReply, FastifyRequest } from 'fastify'
import { knownDeviceMs, rememberDevice } from '../../access/known-devices.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { Ports } from '../../ports.ts'
import { cookieNameOf, cookieOptions } from '../session/session.ts'

/** Recognizes browsers in which a member has signed in. This grants no access. */
export type KnownBrowsers = {
  /** The hash of the cookie that identifies the browser, if it has one. */
  hashOf(request: FastifyRequest): string | undefined
  /** Gives the browser a new cookie and stores it for the member who has just signed in. */
  remember(request: FastifyRequest, reply: FastifyReply, memberId: string): Promise<void>
}

export function knownBrowsers(ports: Ports<'db' | 'now' | 'randomBytes'>, isHttps: boolean): KnownBrowsers {
  const name = cookieNameOf('device', isHttps)
  const options = { ...cookieOptions(isHttps), signed: true, maxAge: knownDeviceMs / 1000 }
  const hashOf: KnownBrowsers['hashOf'] = (request) => {
    const { valid, value } = request.unsignCookie(request.cookies[name] ?? '')
    return valid ? sha256(value) : undefined
  }
  return {
    hashOf,
    async remember(request, reply, memberId) {
      const secret = Buffer.from(ports.randomBytes(32)).toString('base64url')
      const device = { deviceHash: sha256(secret), earlierHash: hashOf(request), memberId }
      await rememberDevice(ports.db, device, ports.now())
      reply.setCookie(name, secret, options)
    },
  }
}
