/** Permissions that a key may have in addition to its kind. An operation that needs one names it in its descriptor. */
export const permissions = {
  'organization:incentivize:streams': 'run the reward streams of its organization',
  'organization:incentivize:streams:create': 'report points of streams',
  'organization:webhooks': 'manage the webhooks of its organization',
} as const
