import type pg from "pg";
import "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import type {} from "postgraphile/graphile-build-pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { LOG_DAYS } from "./log_days.ts";

/**
 * How PostGraphile makes GraphQL from schema `admin`: views become connections, functions become fields and mutations,
 * and nothing else is exposed. Descriptions are the database's comments. Smart tags in these comments say which columns
 * can be filtered and ordered by.
 */

/**
 * Keeps names as in the database: `id` and not `rowId`, `offers` and not `allOffers`, `offer` and not `offerByRowId`.
 * The result of a mutation is named after its type.
 */
const PlainNames: GraphileConfig.Plugin = {
  name: "PlainNames",
  version: "1.0.0",
  inflection: {
    replace: {
      _attributeName(previous, _options, details) {
        return previous ? previous({ ...details, skipRowId: true }) : details.attributeName;
      },
      allRowsConnection(_previous, _options, resource) {
        return this.camelCase(this.pluralize(this._singularizedResourceName(resource)));
      },
      rowByUnique(_previous, _options, { resource }) {
        return this.camelCase(this._singularizedResourceName(resource));
      },
      listField(_previous, _options, baseName) {
        return baseName;
      },
      functionMutationResultFieldName(_previous, _options, { resource }) {
        return this.camelCase(this._singularizedCodecName(resource.codec));
      },
    },
  },
};

/**
 * The settings for PostGraphile.
 * @param pool connections that may read the catalog
 */
export const createPreset = (pool: pg.Pool): GraphileConfig.Preset => ({
  extends: [PostGraphileAmberPreset],
  plugins: [PlainNames, ...LOG_DAYS],
  disablePlugins: [
    // Rows have ids of their own, so Relay's node ids are not needed.
    "NodePlugin",
    "NodeAccessorPlugin",
    "NodeIdCodecBase64JSONPlugin",
    "NodeIdCodecPipeStringPlugin",
    "AddNodeInterfaceToSuitableTypesPlugin",
    "RegisterQueryNodePlugin",
    "PgTableNodePlugin",
    "PgNodeIdAttributesPlugin",
    // Without these, the root query would contain itself, without end.
    "QueryQueryPlugin",
    "MutationPayloadQueryPlugin",
    // Only functions of schema `admin` change anything.
    "PgMutationCreatePlugin",
    "PgMutationUpdateDeletePlugin",
    "PgMutationPayloadEdgePlugin",
    "SubscriptionPlugin",
    // The schema must not depend on the rights of the login that reads the catalog.
    "PgRBACPlugin",
  ],
  pgServices: [makePgService({ pool, schemas: ["admin"], pubsub: false })],
  schema: { defaultBehavior: "-totalCount -filterBy -orderBy" },
});
