/* The version, from the build. */
#ifndef SND_COLLECT_VERSION_H
#define SND_COLLECT_VERSION_H

#ifndef SND_VERSION
#error "the build defines SND_VERSION"
#endif

#endif
