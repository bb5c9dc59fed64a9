import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { testMs, waitMs } from './test/harness/time-limits.ts'

// Compiling what every file imports takes longer than most files run.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/keyledger', import.meta.url))

/** They replace what others have imported already, so each has a process of its own. */
const alone = ['test/dashboard/sign-in.test.ts']

/** They build an image, which takes minutes: for `npm run test:containers` alone. */
const long = process.env.KEYLEDGER_TEST_CONTAINERS
  ? []
  : ['test/containers/compose.test.ts', 'test/containers/image.test.ts']

const time = { testTimeout: testMs, hookTimeout: testMs, expect: { poll: { timeout: waitMs, interval: 20 } } }

export default defineConfig({
  test: {
    pool: 'forks',
    // More than there are cores: much of what is tested waits for processes of its own.
    maxWorkers: 4,
    globalSetup: ['test/harness/postgres-server.ts'],
    projects: [
      {
        test: {
          ...time,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...long],
          // One file after another in a process: importing the application anew costs more than most files do.
          isolate: false,
          // Node runs TypeScript itself here, as it does in the product.
          experimental: { viteModuleRunner: false },
        },
      },
      { test: { ...time, name: 'alone', include: alone, sequence: { groupOrder: 1 } } },
    ],
  },
})
