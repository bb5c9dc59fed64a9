import type { Removed } from './delivery-checks.ts'
import type { LoadContext } from './load-context.ts'
import { changer } from './operator-commands.ts'
import { OperatorFailed } from './operator-process.ts'

/** Sets and removes one tenant's webhook repeatedly, each time with another URL. */
export function createWebhookChanges(context: LoadContext) {
  const removed: Removed[] = []
  let names = 0
  let path: string | undefined
  let busy = false

  async function untilDone(what: string, work: () => Promise<null>): Promise<void> {
    await context.untilDone(what, async () => {
      try {
        await work()
        return true
      } catch (error) {
        if (error instanceof OperatorFailed) return false
        throw error
      }
    })
  }

  return {
    removed,
    async change(): Promise<void> {
      if (busy) return
      busy = true
      const { operator, receiver } = context.stage
      if (path === undefined) {
        path = `/${changer}/${++names}`
        const url = `${receiver}${path}`
        await untilDone('set a webhook', () => operator.send('setWebhook', { tenantId: changer, url }))
      } else {
        await untilDone('remove a webhook', () => operator.send('removeWebhook', { tenantId: changer }))
        removed.push({ path, at: Date.now() })
        path = undefined
      }
      context.acknowledged()
      busy = false
    },
  }
}
