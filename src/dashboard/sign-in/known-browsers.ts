import type { FastifyReply, FastifyRequest } from 'fastify'
import { knownDeviceMs, rememberDevice } from '../../access/known-devices.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { Ports } from '../../ports.ts'
import { cookieNameOf, cookieOptions } from '../session/session.ts'

/** Browsers that are known because a member has signed in with them. Being known opens nothing. */
export type KnownBrowsers = {
  /** What a request's browser is known by, if it holds such a cookie. */
  hashOf(request: FastifyRequest): string | undefined
  /** Makes the browser one of the member's, who has just proved who they are, with a new cookie. */
  remember(request: FastifyRequest, reply: FastifyReply, memberId: string): Promise<void>
}

export function knownBrowsers(
  services: Ports<'db' | 'now' | 'randomBytes'>,
  isHttps: boolean,
): KnownBrowsers {
  const name = cookieNameOf('device', isHttps)
  const options = { ...cookieOptions(isHttps), signed: true, maxAge: knownDeviceMs / 1000 }
  const hashOf: KnownBrowsers['hashOf'] = (request) => {
    const { valid, value } = request.unsignCookie(request.cookies[name] ?? '')
    return valid ? sha256(value) : undefined
  }
  return {
    hashOf,
    async remember(request, reply, memberId) {
      const secret = Buffer.from(services.randomBytes(32)).toString('base64url')
      const device = { deviceHash: sha256(secret), earlierHash: hashOf(request), memberId }
      await rememberDevice(services.db, device, services.now())
      reply.setCookie(name, secret, options)
    },
  }
}
