# Build: everything, the compilers included.
# node 22.23.3, by the digest of its index for all platforms: a tag may come to name another image.
FROM node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS build
WORKDIR /build
COPY package.json package-lock.json ./
# No install script is needed: binaries come as packages of their own.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build \
  && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm pack --ignore-scripts --silent \
  && tar -xzf yield-sandbox-*.tgz \
  && mv node_modules package/node_modules \
  # An optional peer of viem, types and source maps: nothing that runs reads them.
  && rm -rf package/node_modules/typescript package/node_modules/.bin/tsc package/node_modules/.bin/tsserver \
  && find package/node_modules -type f -regex '.*\.\([cm]?ts\|map\)' -delete

# Run: the published package and what it depends on.
FROM node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
# A container's loopback cannot be reached from outside.
ENV NODE_ENV=production YIELD_SANDBOX_HOST=0.0.0.0
COPY --from=build /build/package /app
COPY --from=build /build/scripts/healthcheck.mjs /app/scripts/healthcheck.mjs
# For `--data-dir /data`: a volume mounted here has these rights, so that any user id may keep its state there.
RUN install -d -m 1777 -o node -g node /data
USER node
WORKDIR /app
EXPOSE 4010
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s CMD ["node", "/app/scripts/healthcheck.mjs"]
ENTRYPOINT ["node", "/app/bin/yield-sandbox.js"]
