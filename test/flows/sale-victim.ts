/**
 * Takes in what was told of a purchase as a server would, and is killed by `SIGKILL` right after an event of one type
 * was recorded: `<type> <name of the purchase>`.
 */
import { createLog } from '../../src/bin/log.ts'
import { openStores } from '../../src/bin/stores.ts'
import { receiveNotification } from '../../src/commands/sales.ts'
import { parseConfig } from '../../src/config.ts'
import { purchase } from '../sales/notifications.ts'

const [type, name = ''] = process.argv.slice(2)
const { services } = await openStores(parseConfig(process.env), createLog('silent'))
const victim: typeof services = {
  ...services,
  handle: async (command) => {
    const handled = await services.handle(command)
    if (handled.events.some((event) => event.type === type)) process.kill(process.pid, 'SIGKILL')
    return handled
  },
}
const { sold, refunded } = purchase(name)
for (const told of [sold(), refunded('re_1')]) {
  await receiveNotification(victim, 'acme', told, JSON.stringify(told), {
    requestId: 'req_victim',
    actor: 'provider:stripe',
  })
}
