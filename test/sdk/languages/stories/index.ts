import type { Story } from '../tell.ts'
import { devices } from './devices.ts'
import { ends } from './ends.ts'
import { files } from './files.ts'
import { firstUse } from './first-use.ts'
import { floating } from './floating.ts'
import { network } from './network.ts'
import { seats } from './seats.ts'

/** Every story, which every client lives through. */
export const chapters: readonly { title: string; stories: readonly Story[] }[] = [
  { title: 'Before a license', stories: firstUse },
  { title: 'Seats', stories: seats },
  { title: 'Ends and returns', stories: ends },
  { title: 'The network', stories: network },
  { title: 'The device', stories: devices },
  { title: 'License files', stories: files },
  { title: 'Floating seats', stories: floating },
]
