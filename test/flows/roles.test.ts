// Guarantee: when the roles are split over processes and one runs nowhere, /readyz and `keyledger doctor` say so. Requests are
// served meanwhile.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost, freePort, type Server } from '../harness/process.ts'

const host = createHost()
const Part = z.object({ ok: z.boolean(), required: z.boolean(), detail: z.string().optional() })
const Ready = z.object({ ready: z.literal(true), parts: z.looseObject({ roles: Part.optional() }) })
const Doctor = z.object({ healthy: z.literal(true), parts: z.looseObject({ roles: Part }) })

async function rolesOf({ address }: Server) {
  const answer = await fetch(`${address}/readyz`)
  return Ready.parse(await answer.json()).parts.roles
}

test('a role that no process has is named until one runs it', async () => {
  const { environment } = await host.stores()
  const server = await host.serve(environment, { roles: 'api' })
  await expect.poll(() => rolesOf(server)).toMatchObject({ ok: false, required: false })
  const others = host.startServer(environment, await freePort(), 'projector,reactions,dispatcher')
  await expect
    .poll(() => rolesOf(server))
    .toStrictEqual({
      ok: false,
      required: false,
      detail: 'no process has the role notary: nothing is signed, so new events get no receipt',
    })
  const { parts } = await host.json(Doctor, ['doctor'], environment)
  expect(parts.roles).toMatchObject({ ok: false, required: false })
  expect(parts.roles.detail).toContain('no process has the role notary')

  host.startServer(environment, await freePort(), 'notary')
  await expect.poll(() => rolesOf(server)).toBeUndefined()
  await others.end('SIGKILL')
  await expect
    .poll(async () => (await rolesOf(server))?.detail ?? '')
    .toContain('no process has the role dispatcher')
})
