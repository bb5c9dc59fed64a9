/** Gives the newest custom role to a member and to a provider, and takes it away, in its own process: `<tenant> <member> <times>`. */
import { listCustomRoles } from '../../projections/custom-roles.ts'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { changeRole } from '../../src/commands/members/members.ts'
import { changeProvider } from '../../src/commands/sign-in-providers.ts'
import { parseConfig } from '../../src/config.ts'
import { newId } from '../../src/credentials/id.ts'
import { Refusal } from '../../src/domain/refusal.ts'

const [tenantId = '', memberId = '', times = ''] = process.argv.slice(2)
const stores = await openStores(parseConfig(process.env), createLog('silent'))
const { ports } = stores
const origin = { requestId: 'req_racer', actor: 'operator:test' }
for (let time = 0; time < Number(times); ) {
  const role = (await listCustomRoles(ports.db, tenantId)).roles.at(-1)?.roleId
  if (role === undefined) continue
  try {
    if (time % 3 === 0)
      await changeProvider(ports, tenantId, 'login', { defaultRole: role }, newId('cnf'), origin)
    else await changeRole(ports, tenantId, memberId, role, origin)
    time++
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'role_not_found')) throw error
  }
  await changeRole(ports, tenantId, memberId, 'auditor', origin)
  if (time % 3 === 1)
    await changeProvider(ports, tenantId, 'login', { defaultRole: null }, newId('cnf'), origin)
}
await stores.close()
