import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createLog } from '../../app/log.ts'
import { withRealPort } from '../../app/start/own-address.ts'
import { openStores } from '../../app/stores.ts'
import { parseConfig } from '../../config.ts'
import { topCommand } from '../context.ts'
import { runDemo } from '../demo/run.ts'

export function demoCommand(program: Command): void {
  topCommand(program, 'demo').action(demo)
}

async function demo(): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'keyledger-demo-'))
  // Always its own stores and a free port, independent of the environment.
  const config = await withRealPort(parseConfig({ KEYLEDGER_DATA_DIR: dataDirectory, KEYLEDGER_PORT: '0' }))
  const log = createLog('warn')
  const { startServer } = await import('../../app/server.ts')
  try {
    const stores = await openStores(config, log)
    try {
      const server = await startServer(config, stores, log, ['api', 'projector'])
      try {
        await runDemo(stores, server.address ?? '')
      } finally {
        await server.stop()
      }
    } finally {
      await stores.close()
    }
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}
