#pragma once

/// The one door to Catch2, so that a change of its version touches one file.
#include <catch2/catch.hpp>
