import { day, type Story, three } from '../tell.ts'

/** Floating seats. They end by the clock of the database, so the server has the true time. */
export const floating: Story[] = [
  {
    name: 'floating seat, given back and taken again',
    isTimed: false,
    async tell({ open, does, licenses, trueTime }) {
      const team = await licenses('team')
      trueTime()
      await open('unlicensed')
      await does('activate', 'licensed', { text: team.keys })
      await does('validate', 'licensed')
      await does('close', 'unlicensed')
      await open('unlicensed')
      await does('validate', 'licensed')
      await does('deactivate', 'unlicensed')
      await does('activate', 'licensed', { text: team.keys })
    },
  },
  {
    name: 'floating seat that another takes',
    isTimed: false,
    async tell({ open, does, licenses, trueTime }) {
      const team = await licenses('team')
      trueTime()
      await open('unlicensed')
      await does('activate', 'licensed', { text: team.keys })
      await does('close', 'unlicensed')
      await open('unlicensed', { machineHash: 'hash-of-a-second-machine' }, 'second')
      await does('activate', 'licensed', { text: team.keys })
      await open('unlicensed')
      await does('validate', 'seat_limit_reached: unlicensed')
      await open('licensed', { machineHash: 'hash-of-a-second-machine' }, 'second')
      await does('close', 'unlicensed')
      await open('unlicensed')
      await does('validate', 'licensed')
    },
  },
  {
    name: 'floating seat that the vendor takes away, and another takes',
    isTimed: false,
    async tell({ open, does, licenses, trueTime, takeSeats, pass }) {
      const team = await licenses('team')
      trueTime()
      await open('unlicensed')
      await does('activate', 'licensed', { text: team.keys })
      await takeSeats(team)
      await open('unlicensed', { machineHash: 'hash-of-a-second-machine' }, 'second')
      await does('activate', 'licensed', { text: team.keys })
      pass(1)
      await open('licensed')
      await does('validate', 'seat_limit_reached: revoked', { notices: ['revoked'] })
    },
  },
  {
    name: 'floating seat that is borrowed',
    isTimed: false,
    async tell({ open, does, licenses, trueTime }) {
      const team = await licenses('team')
      trueTime()
      await open('unlicensed')
      await does('activate', 'licensed', { text: team.keys })
      await does('borrow', 'licensed', { text: String(day) })
      await does('validate', 'offline: offline', { faults: three({ kind: 'refused' }) })
      await does('deactivate', 'unlicensed')
      await does('activate', 'licensed', { text: team.keys })
    },
  },
]
