#!/usr/bin/env node
// Runs the command on Node 24, which comes as the npm package `node`, even where the system's Node is older.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../src/bin/keyledger.ts', import.meta.url))

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import(program)
} else {
  const bundled = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
  if (!existsSync(bundled)) {
    process.stderr.write(
      `keyledger needs Node 24; this is ${process.version}. Run \`npm ci\` in its directory, with install scripts ` +
        'allowed, or put a Node 24 on your PATH.\n',
    )
    process.exit(2)
  }
  // A terminal's Ctrl-C reaches the child by itself; this process only waits for how it ends.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
  const { status } = spawnSync(bundled, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
