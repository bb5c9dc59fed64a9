#!/usr/bin/env node
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@keyledger/client'
import { createMeters } from '@keyledger/client/meters'
import { fileJournal, fileStorage, identifyDevice } from '@keyledger/client/node'

const { LICENSE_SERVER, TENANT, PRODUCT, SDK_KEY, XDG_CONFIG_HOME } = process.env
const folder = join(XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'demo-render')

const client = createClient({
  baseUrl: LICENSE_SERVER ?? 'http://localhost:8080',
  tenantId: TENANT ?? 'demo',
  productId: PRODUCT ?? 'demo-render',
  sdkKey: SDK_KEY ?? '',
  storage: fileStorage(join(folder, 'license.json')),
  deviceName: hostname(),
  identity: identifyDevice,
})
const meters = createMeters(client, {
  journal: fileJournal(join(folder, 'uses')),
  onRefused: ({ key, reason }) => console.error(`${key} is not counted: ${reason}.`),
})
const minutes = meters.meter('minutes')

function succeeded({ ok, problem }) {
  if (!ok) throw new Error(problem.message)
}

async function reserve(amount, days) {
  const reserved = await minutes.reserve(amount, Number(days) * 86_400)
  if (!reserved.granted) throw new Error(reserved.message)
}

async function render(scene, frames) {
  for (let frame = 1; frame <= Number(frames); frame++) {
    // A frame has the same key in each run, so what a crash interrupted can be rendered again.
    const used = await minutes.use('0.5', { key: `${scene}-${frame}` })
    if (!used.allowed) throw new Error(`Frame ${frame} is not rendered: ${used.message}`)
    console.log(`Frame ${frame} is rendered.`)
  }
}

async function run([command, ...given]) {
  switch (command) {
    case 'activate':
      return succeeded(await client.activate(given[0] ?? ''))
    case 'reserve':
      return reserve(...given)
    case 'render':
      return render(...given)
    case 'return':
      return succeeded(await minutes.giveBack())
  }
}

try {
  await client.start()
  await run(process.argv.slice(2))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
// Without a network this fails, and what is journaled waits for the next run.
await meters.report()
const { reserved, unreported } = await minutes.standing()
console.log(`Reserved: ${reserved} minutes. To report: ${unreported} frames.`)
client.stop()
