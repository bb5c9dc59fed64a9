import { z } from 'zod'
import { type ListedToken, tokenStatusAt } from '../../../projections/tokens/list.ts'
import { momentOf } from '../../commands/origin.ts'
import { requireToken, revokeToken as runRevocation } from '../../commands/tokens.ts'
import { quoted } from '../../domain/plain-text.ts'
import { Refusal } from '../../domain/refusal.ts'
import { gatedOperation } from '../operation.ts'

const input = z.object({ params: z.strictObject({ id: z.string() }) })

export const revokeToken = gatedOperation({
  name: 'token.revoke',
  title: 'Revoke an API token',
  method: 'POST',
  path: '/v1/tokens/{id}/revoke',
  scope: 'danger',
  input,
  async check(ports, tenantId, { params }) {
    const { token } = await requireToken(ports, tenantId, params.id)
    if (token.status === 'revoked') throw new Refusal('token_revoked')
  },
  async describe(ports, tenantId, { params }) {
    const listed = await requireToken(ports, tenantId, params.id)
    const { tokenId, name, scopes } = listed.token
    const status = tokenStatusAt(listed, momentOf(ports))
    return {
      summary: `Revoke the API token ${quoted(name)} (${tokenId})`,
      details: [['Scopes', scopes.join(', ')]],
      state: { status },
    }
  },
  async run(ports, tenantId, { params }, { origin }): Promise<ListedToken> {
    await runRevocation(ports, tenantId, params.id, origin)
    return requireToken(ports, tenantId, params.id)
  },
})
