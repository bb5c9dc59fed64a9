/**
 * Uses an approved confirmation as a server would, and kills itself with SIGKILL right after an event of the given
 * type was recorded: `<type> <token> <license id> <confirmation id>`.
 */
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { parseConfig } from '../../src/config.ts'
import { tokenHashOf } from '../../src/credentials/token.ts'
import { revokeLicense } from '../../src/gate/operations/revoke-license.ts'
import { passGate } from '../../src/gate/pass.ts'

const [type, token = '', id = '', confirmationId] = process.argv.slice(2)
const { ports } = await openStores(parseConfig(process.env), createLog('silent'))
const known = await ports.findToken(tokenHashOf(token, 'pat') ?? '')
if (!known) throw new Error('nobody has this token')
const { tenantId, tokenId } = known.token
await passGate(
  {
    ...ports,
    execute: async (...args) => {
      const handled = await ports.execute(...args)
      if (handled.events.some((event) => event.type === type)) process.kill(process.pid, 'SIGKILL')
      return handled
    },
  },
  revokeLicense,
  {
    tenantId,
    tokenId,
    userAgent: null,
    request: { parameters: { id }, query: {}, body: null },
    origin: { requestId: 'req_victim', actor: `token:${tokenId}` },
    confirmationId,
  },
)
