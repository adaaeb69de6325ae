#!/bin/sh
# fresh_pch.sh COMMAND…: runs a compiler. g++ makes a precompiled header of the one that lies there already, whatever has changed
# in between: if that is what is asked for, the old one goes first.
last=
for word; do
  case $last$word in
    -o*.gch) rm -f "$word" ;;
  esac
  last=$word
done
exec "$@"
