import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Compiling what every file imports takes longer than most files run.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/keyledger', import.meta.url))

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // One process a file: two EventStoreDB clients in one process can crash it.
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: ['test/harness/postgres-server.ts'],
  },
})
