/** Approves confirmations one after the other as a member, in its own process: `<tenant> <member> <id>,<id>,…`. */
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { parseConfig } from '../../src/config.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { approve } from '../../src/gate/approvals.ts'

const [tenantId = '', member = '', ids = ''] = process.argv.slice(2)
const stores = await openStores(parseConfig(process.env), createLog('silent'))
for (const id of ids.split(',')) {
  try {
    await approve(stores.ports, tenantId, id, { requestId: 'req_racer', actor: `member:${member}` })
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'approval_by_another')) throw error
  }
}
await stores.close()
