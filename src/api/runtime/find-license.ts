import type { FastifyReply } from 'fastify'
import type { KeyLookupResult } from '../../../projections/licenses/runtime.ts'
import type { TypedKey } from '../../credentials/license-key.ts'
import { type Authority, admitAs } from '../../http/authenticate.ts'
import type { Ports } from '../../ports.ts'
import { onlyPlain } from '../../vault/key-hashing.ts'

type Question = { tokenHash: string; productId: string; deviceId: string }

/** Authenticates the caller of a validate and finds the license of a key. @throws Problem 401, 429, 403 */
export type FindLicense = (
  reply: FastifyReply,
  key: TypedKey,
  question: Question,
  now: string,
) => Promise<{ tenantId: string; result: KeyLookupResult }>

/** More tokens than an installation has in use. */
const maxTokens = 10_000

/**
 * One query finds token and license. The hash of a key of another format depends on the tenant, which is only known from
 * the token: so the tenant of a token, which never changes, is remembered, and the first such key of a token takes a second
 * query.
 */
export function createFindLicense(
  { findForValidate, keyHashing }: Ports<'findForValidate' | 'keyHashing'>,
  authority: Authority,
): FindLicense {
  const tenants = new Map<string, string>()
  return async (reply, key, question, now) => {
    const { tokenHash } = question
    const hashes = keyHashing.hashesNow(tenants.get(tokenHash), key)
    const { token, result } = await findForValidate({ ...question, ...(hashes ?? onlyPlain(key)) })
    const { tenantId } = await admitAs(authority, reply, tokenHash, token, now)
    if (hashes) return { tenantId, result }
    if (tenants.size >= maxTokens) tenants.clear()
    tenants.set(tokenHash, tenantId)
    const both = await keyHashing.hashesOf(tenantId, key)
    return { tenantId, result: (await findForValidate({ ...question, ...both })).result }
  }
}
