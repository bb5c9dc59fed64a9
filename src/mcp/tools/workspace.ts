import { z } from 'zod'
import { operations } from '../../description/operations.ts'
import { customerId, licenseId, page, productId, reason, time } from '../arguments.ts'
import { tool } from '../tool.ts'

/** Products, customers, figures, and the token itself. */
export const workspaceTools = [
  tool({
    name: 'who_am_i',
    operation: 'verifyToken',
    title: 'Read what this token may do',
    description: 'Returns the workspace and the scopes of the token. Use it when a tool is refused with 403.',
    effect: 'reads',
    input: {},
  }),
  tool({
    name: 'list_roles',
    operation: 'listRoles',
    title: 'List the custom roles of members',
    description:
      'Returns the roles that the workspace made for members of the dashboard, with their scopes and what these allow there.',
    effect: 'reads',
    input: {},
  }),
  tool({
    name: 'list_products',
    operation: 'listProducts',
    title: 'List products',
    description: 'Returns the products with their settings. Their ids are needed to issue licenses.',
    effect: 'reads',
    input: page,
  }),
  tool({
    name: 'list_key_types',
    operation: 'listKeyTypes',
    title: 'List the key types of a product',
    description:
      'Returns what a product sells: the term, its start and grace, the period of updates, device limit, license files ' +
      '(`offlineFiles`), floating seats and relays (`floatingSeats`), entitlements with their values, and price of each key type.',
    effect: 'reads',
    input: { productId },
  }),
  tool({
    name: 'list_releases',
    operation: 'listReleases',
    title: 'List the releases of a product',
    description:
      'Returns the releases of a product, newest first. A license covers those that were built until its `updatesUntil`.',
    effect: 'reads',
    input: { productId },
  }),
  tool({
    name: 'get_customer',
    operation: 'getCustomer',
    title: 'Read a customer',
    description:
      'Returns a customer with their entitlement overrides. find_license finds customers by a person.',
    effect: 'reads',
    input: { customerId },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'list_licenses_of_customer',
    operation: 'listLicensesOfCustomer',
    title: 'List the licenses of a customer',
    description: 'Returns the licenses that are linked to a customer, newest first.',
    effect: 'reads',
    input: { customerId, ...page },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'link_license_to_customer',
    operation: 'linkLicense',
    title: 'Link a license to a customer',
    description:
      'Links a license to a customer, whose entitlement overrides then apply to it. A license of another customer is refused.',
    effect: 'changes',
    input: { customerId, licenseId, reason },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'list_customer_notes',
    operation: 'listCustomerNotes',
    title: 'List the notes about a customer',
    description:
      'Returns what members and programs wrote about a customer, newest first, with who wrote it and when. Read them before you answer a customer.',
    effect: 'reads',
    input: { customerId, ...page },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'add_customer_note',
    operation: 'addCustomerNote',
    title: 'Add a note about a customer',
    description:
      'Writes down what is to be known of a customer, for the members who support them. It is stored encrypted, and erased with the person.',
    effect: 'changes',
    input: {
      customerId,
      text: z.string().min(1).max(2000).describe('What is to be known of the customer'),
    },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'list_people',
    operation: 'listPeople',
    title: 'List the people of an organization',
    description:
      'Returns the people of a customer that is an organization, newest first, with their roles and invitations.',
    effect: 'reads',
    input: { customerId, ...page },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'add_people',
    operation: 'addPeople',
    title: 'Add people to an organization',
    description:
      'Adds people to a customer that is an organization, and invites them to the portal by email unless `invite` is false. Those who are ' +
      'in it already stay as they are.',
    effect: 'changes',
    input: {
      customerId,
      people: z
        .array(
          z.strictObject({
            email: z.email().describe('Their email address'),
            name: z.string().max(200).optional().describe('Their name'),
            role: z.enum(['administrator', 'member']).optional().describe('member when absent'),
          }),
        )
        .min(1)
        .max(200),
      invite: z.boolean().optional().describe('Whether they get an invitation'),
    },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'remove_person',
    operation: 'removePerson',
    title: 'Remove a person from an organization',
    description: 'Removes a person from an organization. They no longer see its licenses from then on.',
    effect: 'changes',
    input: { customerId, personId: z.string().min(1).max(100).describe('The id of the person') },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'remove_customer_note',
    operation: 'removeCustomerNote',
    title: 'Remove a note about a customer',
    description: 'Removes a note about a customer for good. Read its id with list_customer_notes.',
    effect: 'destroys',
    input: { customerId, noteId: z.string().describe('The id of the note') },
    names: { customerId: 'id' },
  }),
  tool({
    name: 'read_usage',
    operation: 'readUsage',
    title: 'Count activations and validates',
    description: 'Returns how often apps and servers activated and validated, by hour or day in UTC.',
    effect: 'reads',
    input: {
      productId: productId.optional(),
      from: time('The first hour or day').optional(),
      to: time('Where to end').optional(),
      granularity: z.enum(operations.readUsage.query.granularity.choices).optional(),
    },
    names: { productId: 'product' },
  }),
  tool({
    name: 'read_insights',
    operation: 'readInsights',
    title: 'Read sales and license figures',
    description: 'Returns sales, refunds, new and ended licenses, app versions and trials by day, in UTC.',
    effect: 'reads',
    input: { from: time('The first day').optional(), to: time('Where to end').optional() },
  }),
  tool({
    name: 'check_approval',
    operation: 'getConfirmation',
    title: 'Ask whether a person has approved',
    description:
      'Returns the status of an approval that another tool asked for: pending, approved, denied or expired. Once it ' +
      'is approved, repeat that tool with the same arguments and `confirmationId`. Ask at most every two seconds.',
    effect: 'reads',
    input: { confirmationId: z.string().min(1).max(100).describe('The id of the approval') },
    names: { confirmationId: 'id' },
  }),
]
