import { z } from 'zod'
import type { LoadContext } from './load-context.ts'
import type { License } from './model.ts'
import { OperatorFailed } from './operator-process.ts'

const Pending = z.object({ confirmation: z.object({ id: z.string() }) })

/**
 * Revokes a license as an API client does: sends the request, has an operator approve it, and repeats it with the
 * confirmation. An expired or used confirmation is requested again.
 */
export function createRevoking(context: LoadContext) {
  return async function revoke(): Promise<void> {
    const open = context.licenses.filter(({ revocation }) => revocation === 'none')
    if (open.length < 4) return
    const license = context.random.pick(open)
    await context.untilDone(`revoke ${license.id}`, () => tryOnce(license))
  }

  async function tryOnce(license: License): Promise<boolean> {
    if (license.revocation === 'acknowledged') return true
    const confirmationId = await send(license)
    if (confirmationId === 'revoked') return true
    if (confirmationId === 'open' || confirmationId === undefined) return false
    try {
      await context.stage.operator.send('approve', { confirmationId })
    } catch (error) {
      if (error instanceof OperatorFailed) return false
      throw error
    }
    // From now on it may be revoked at any time.
    if (license.revocation === 'none') license.revocation = 'requested'
    return (await send(license, confirmationId)) === 'revoked'
  }

  /** @returns the id of a confirmation to approve; `open` when it is unknown */
  async function send(license: License, confirmationId?: string): Promise<string | undefined> {
    const called = await context.request(license.tenantId, {
      method: 'POST',
      path: `/v1/licenses/${license.id}/revoke`,
      headers: confirmationId === undefined ? {} : { 'x-service-confirmation': confirmationId },
    })
    if (called.came !== 'answer') return 'open'
    const { status, body } = called
    // Another call, or an earlier attempt of this one, has revoked it.
    if (status === 200 || status === 409) {
      license.revocation = 'acknowledged'
      if (status === 200) context.acknowledged()
      return 'revoked'
    }
    if (status === 202) return Pending.parse(body).confirmation.id
    if (status === 403 && confirmationId !== undefined) return 'open'
    const found = `${status} ${JSON.stringify(body)}`
    context.fail({ what: `revoke ${license.id}`, expected: '200, 202, 403 or 409', found })
    return undefined
  }
}
