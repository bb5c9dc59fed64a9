import { z } from 'zod'
import { licenseId, page } from '../arguments.ts'
import { tool } from '../tool.ts'

const personId = z.string().min(1).max(100).describe('The id of the person; list_people shows it')

/** Who has the seats of a license whose seats are of people. */
export const personSeatTools = [
  tool({
    name: 'list_seated_people',
    operation: 'listSeatedPeople',
    title: 'List the people who have seats of a license',
    description:
      'Returns who has the seats of a license with `seatPolicy: named`, with the ends of their keys and their active devices.',
    effect: 'reads',
    input: { licenseId, ...page },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'assign_seat',
    operation: 'assignSeat',
    title: 'Give a person a seat',
    description:
      'Gives a person of the organization that has the license a seat of it, and returns their own key, which activates their devices. ' +
      'One who has a seat keeps it and their key.',
    effect: 'adds',
    repeatable: true,
    input: { licenseId, personId },
    names: { licenseId: 'id' },
  }),
  tool({
    name: 'unassign_seat',
    operation: 'unassignSeat',
    title: 'Take the seat of a person',
    description:
      'Takes the seat of a person at once: their devices are freed, and their key does not work any more.',
    effect: 'destroys',
    input: { licenseId, personId },
    names: { licenseId: 'id' },
  }),
]
