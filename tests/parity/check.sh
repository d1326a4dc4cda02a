#!/bin/sh
# check.sh BUILD_FOLDER SCRIPT PROGRAM: runs the script with a Python that has what it needs; 77,
# which ctest takes for "skipped", when there is none.
for python in "$1/python/bin/python3" python3 /usr/bin/python3; do
  if "$python" -c 'import numpy, onnxruntime, safetensors, torch' 2>/dev/null; then
    exec "$python" "$2" "$3"
  fi
done
echo "skipped: no Python here has numpy, onnxruntime, safetensors and torch; ./setup.sh parity installs them"
exit 77
