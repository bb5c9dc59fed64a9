import { day, type Story, three } from '../tell.ts'

/** The clock of a device, its storage, its machine, and the build of its app. */
export const devices: Story[] = [
  {
    name: 'clock set back',
    async tell({ open, does, licenses, setClock }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('pro')).keys })
      setClock(-day)
      await does('look', 'licensed')
      await open('licensed')
      await does('validate', 'licensed')
    },
  },
  {
    name: 'clock set back after the lease has ended',
    async tell({ open, does, licenses, setClock, pass }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('pro')).keys })
      setClock(8 * day)
      await does('look', 'expired')
      setClock(0)
      await does('look', 'expired')
      await open('expired')
      pass(10)
      await does('validate', 'licensed', { notices: ['restored'] })
    },
  },
  {
    name: 'clock that was ahead in the trial',
    async tell({ open, does, setClock }) {
      await open('unlicensed')
      await does('startTrial', 'trial')
      setClock(15 * day)
      await does('look', 'expired')
      setClock(0)
      await does('look', 'expired')
      await does('startTrial', 'expired')
    },
  },
  {
    name: 'storage copied to another machine',
    async tell({ open, does, licenses, copyStorage }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('one')).keys })
      copyStorage('copy')
      await open('another_device', { machineHash: 'hash-of-another-machine' }, 'copy')
      await does('validate', 'licensed', { notices: ['restored'] })
      await open('licensed')
      await does('validate', 'licensed')
    },
  },
  {
    name: 'machine in which one part was replaced',
    async tell({ open, does, licenses }) {
      const parts = (disk: string) => ({
        machineHash: undefined,
        components: { board: 'b'.repeat(43), mac: 'm'.repeat(43), disk: disk.repeat(43) },
      })
      await open('unlicensed', parts('d'))
      await does('activate', 'licensed', { text: (await licenses('one')).keys })
      await open('licensed', parts('e'))
      await does('validate', 'licensed')
    },
  },
  {
    name: 'storage lost',
    async tell({ open, does, licenses }) {
      const { keys } = await licenses('one')
      await open('unlicensed')
      await does('activate', 'licensed', { text: keys })
      await open('unlicensed', {}, 'new')
      await does('activate', 'licensed', { text: keys })
    },
  },
  {
    name: 'storage changed by hand',
    async tell({ open, does, licenses, editStorage }) {
      await open('unlicensed')
      await does('activate', 'licensed', { text: (await licenses('month')).keys })
      editStorage((text) => text.replace(/("(?:lease2|token|proof)":"[^"]{40})./, '$1_'))
      await open('unlicensed')
      editStorage(() => 'no JSON')
      await open('unlicensed')
      await does('validate', 'unlicensed')
    },
  },
  {
    name: 'build after the updates of the license',
    async tell({ open, does, licenses, nowSeconds }) {
      const built = nowSeconds()
      await open('unlicensed', { appBuiltAt: built })
      await does('activate', 'licensed', { text: (await licenses('yearly')).keys })
      await open('not_covered', { appBuiltAt: built + 400 * day })
      await does('validate', 'build_not_covered: not_covered')
      await open('licensed', { appBuiltAt: built })
      await does('validate', 'offline: offline', { faults: three({ kind: 'refused' }) })
    },
  },
]
