#!/usr/bin/env node
// Runs the command on Node 24, which comes as the npm package `node`, even where the system's Node is older.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../src/bin/keyledger.ts', import.meta.url))
// Stripping the types of every file at every start costs more than most commands do. The embedded event store, a
// process of its own, keeps its files there too.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/keyledger', import.meta.url))

if (Number(process.versions.node.split('.')[0]) >= 24) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
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
  const child = spawn(bundled, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends its Ctrl-C to the child too, and a second one would mean "at once".
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal]
  })
}
